// What the page shows of the API's numbers, without a page: tests run this.

// All clicks, and those of people: visitors are told of what was asked for.
export async function ask(api, about) {
  const [all, people] = await Promise.all([
    api.clicks(about), api.clicks({ ...about, bots: "exclude" })]);
  return { all, visitors: people.total.visitors };
}

// What no person has clicked: robots, and browsers that fetched ahead.
function machines(counts) {
  return counts.clicks - counts.humans;
}

export function totals({ all, visitors }) {
  const { clicks, humans } = all.total;
  return {
    clicks, people: humans, robots: machines(all.total), visitors,
    share: clicks ? machines(all.total) / clicks : null,
  };
}

// For the chart: times, all clicks, people's.  Robots are drawn first, to the
// height of both, and people over them.
export function columns(data) {
  return [
    data.map((bucket) => Date.parse(bucket.start) / 1000),
    data.map((bucket) => bucket.clicks),
    data.map((bucket) => bucket.humans),
  ];
}

// The breakdowns by each dimension, `limit` values of each: { answer }, or { why } where
// the API says that this cannot be told, as of a range that begins before the clicks that
// are kept.
export function breakdowns(api, about, dimensions, limit) {
  return Promise.all(dimensions.map(async (dimension) => {
    try {
      return { answer: await api.clicks({ ...about, group_by: dimension, limit }) };
    } catch (why) {
      if (!why.isRefused) {
        throw why;
      }
      return { why: why.message };
    }
  }));
}
