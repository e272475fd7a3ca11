// What the page shows of the API's numbers, without a page: tests run this.

// All clicks, and those of people: visitors are told of what was asked for.
export async function ask(api, about) {
  const [all, people] = await Promise.all([
    api.clicks(about), api.clicks({ ...about, bots: "exclude" })]);
  return { all, people };
}

// Whether all answers are of one link: between two of them its code can have been given to
// another.
export function areOfOneLink({ all, people }, parts) {
  const answers = [people, ...parts.map((part) => part.answer)];
  return answers.every((answer) => !answer || answer.link_id === all.link_id);
}

// What no person has clicked: robots, and browsers that fetched ahead.
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

// For the chart: times, all clicks, people's.  Robots are drawn first, to the
// height of both, and people over them.
export function columns(data) {
  return [
    data.map((bucket) => Date.parse(bucket.start) / 1000),
    data.map((bucket) => bucket.clicks),
    data.map((bucket) => bucket.humans),
  ];
}

// How long a bucket is that nothing has cut short, in seconds.
export function stepOf(data) {
  const [starts] = columns(data);
  return Math.max(...starts.slice(1).map((start, i) => start - starts[i]), 0) || 3600;
}

// The clicks of a breakdown's values, and of all others together.
export function valuesOf(answer) {
  const values = answer.groups.filter((group) => group.clicks > 0);
  return answer.rest?.clicks > 0 ? [...values, { isRest: true, clicks: answer.rest.clicks }] : values;
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
