// Clicks over time: people's bars below, robots' stacked on top of them.

import { columns, stepOf } from "/figures.js";

const HEIGHT = 280;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function axis(extra) {
  return {
    stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
    ...extra,
  };
}

function options(width, zone, data) {
  const step = stepOf(data);
  const bars = uPlot.paths.bars({ size: [0.82, 60], radius: 0.15 });
  const robots = (u, value, series, i) =>
    i == null ? "–" : (u.data[1][i] - u.data[2][i]).toLocaleString();
  const number = (u, value) => (value == null ? "–" : value.toLocaleString());
  return {
    width,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // The range is half a bucket wider on either side, so that no bar is cut.
      x: { range: (u, first, last) => [first - step / 2, last + step / 2] },
      y: { range: (u, low, high) => [0, Math.max(high * 1.06, 4)] },
    },
    axes: [
      axis(),
      axis({ size: 60, values: (u, ticks) => ticks.map((t) => (Number.isInteger(t) ? t.toLocaleString() : "")) }),
    ],
    series: [
      { value: (u, at) => (at == null ? "–" : timeText(at, zone)) },
      { label: "robots, prefetches", fill: colour("--robots"), width: 0, paths: bars, value: robots, points: { show: false } },
      { label: "people", fill: colour("--people"), width: 0, paths: bars, value: number, points: { show: false } },
    ],
  };
}

function timeText(seconds, zone) {
  return new Date(seconds * 1000).toLocaleString([], {
    timeZone: zone, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit",
  });
}

export class Chart {
  constructor(element) {
    this.element = element;
    new ResizeObserver(() => {
      if (this.plot) {
        this.plot.setSize({ width: element.clientWidth, height: HEIGHT });
      }
    }).observe(element);
  }

  show(data, zone) {
    this.plot?.destroy();
    this.plot = new uPlot(options(this.element.clientWidth, zone, data), columns(data), this.element);
  }

  clear() {
    this.plot?.destroy();
    this.plot = null;
  }
}
