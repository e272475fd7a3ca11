// Computes the page's figures from the API's numbers, without a page, so that tests can run it.

// Queries all clicks, and those of people: visitors are counted only among the queried clicks.
export async function ask(api, about) {
  const [all, people] = await Promise.all([
    api.clicks(about), api.clicks({ ...about, bots: "exclude" })]);
  return { all, people };
}

// Returns whether all answers are of one link: between two of them, the code may have been
// issued to another.
export function areOfOneLink({ all, people }, parts) {
  const answers = [people, ...parts.map((part) => part.answer)];
  return answers.every((answer) => !answer || answer.link_id === all.link_id);
}

// Counts clicks not made by people: those of robots, and of browsers that prefetched.
function machines(counts) {
  return counts.clicks - counts.humans;
}

export function totals({ all, people }) {
  const { clicks, humans } = all.total;
  return {
    clicks, people: humans, robots: machines(all.total), visitors: people.total.visitors,
    isEstimate: people.unique_error > 0,
    share: clicks ? machines(all.total) / clicks : null,
  };
}

// Returns the chart's columns: times, all clicks, people's clicks.  Robots are drawn first,
// to the height of both, and people over them.
export function columns(data) {
  return [
    data.map((bucket) => Date.parse(bucket.start) / 1000),
    data.map((bucket) => bucket.clicks),
    data.map((bucket) => bucket.humans),
  ];
}

// Returns the length of a whole bucket, in seconds.
export function stepOf(data) {
  const [starts] = columns(data);
  return Math.max(...starts.slice(1).map((start, i) => start - starts[i]), 0) || 3600;
}

// Returns the clicks of a breakdown's values, and of all others together.
export function valuesOf(answer) {
  const values = answer.groups.filter((group) => group.clicks > 0);
  return answer.rest?.clicks > 0 ? [...values, { isRest: true, clicks: answer.rest.clicks }] : values;
}

// Queries the breakdowns by each dimension, `limit` values of each: { answer }, or { why }
// if the API refuses it, as for a range that begins before the clicks that are kept.
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
