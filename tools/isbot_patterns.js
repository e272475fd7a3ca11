// Writes the patterns of npm's isbot as a JSON array of texts for PCRE2.
//
// usage: node tools/isbot_patterns.js MODULE OUTPUT
"use strict";
const fs = require("fs");
const path = require("path");

// JavaScript takes the hyphen of [\w-.] literally, PCRE2 refuses it: escaped,
// both take it literally.
function escapeHyphens(pattern) {
  return pattern.replace(/\[(?:\\.|[^\]\\])*\]/g, (set) =>
    set.replace(/(\\[dDwWsS])-(?!\])/g, "$1\\-"));
}

function main(module, output) {
  const { list } = require(path.resolve(module));
  if (!Array.isArray(list) || !list.length || !list.every((p) => typeof p === "string")) {
    throw new Error(`${module}: expected an array of texts, list`);
  }
  const patterns = list.map(escapeHyphens);
  patterns.forEach((pattern) => new RegExp(pattern, "i"));
  fs.writeFileSync(output, JSON.stringify(patterns, null, 1) + "\n");
  console.log(`${patterns.length} patterns`);
}

main(...process.argv.slice(2));
