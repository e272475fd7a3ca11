// A client of both programs, made of their descriptions: makes a link, reads it, and looks
// for it in the archive's lists.
import createClient from "openapi-fetch";
import type { paths as AggregatorPaths } from "./aggregator";
import type { paths as AllocatorPaths } from "./allocator";

declare const process: { argv: string[] };

const [allocatorUrl, aggregatorUrl, key] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const allocator = createClient<AllocatorPaths>({ baseUrl: allocatorUrl, headers });
const aggregator = createClient<AggregatorPaths>({ baseUrl: aggregatorUrl, headers });

const made = await allocator.POST("/v1/links", {
  body: { url: "https://example.org/client", ttl: "1h", tags: ["typed"] },
});
const code: string = made.data?.code ?? "";
const read = await allocator.GET("/v1/links/{code}", { params: { path: { code } } });
const listed = await aggregator.GET("/v1/links", {
  params: { query: { clicks: "true", sort: "ends", order: "asc", limit: 3 } },
});
const refused = await aggregator.GET("/v1/links", {
  // @ts-expect-error There is no such order.
  params: { query: { sort: "size" } },
});
// @ts-expect-error There is no such path.
await aggregator.GET("/v1/nothing");

const shortUrls: (string | null)[] = listed.data?.links.map((link) => link.short_url) ?? [];
console.log(JSON.stringify({
  made: made.response.status,
  same: read.data?.short_url === made.data?.short_url,
  links: shortUrls.length,
  complete: listed.data?.counted?.complete ?? null,
  refused: refused.error?.status,
}));
