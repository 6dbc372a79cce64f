// The import arrows of docs/architecture.md. `test/conformance/imports.test.ts` proves that every module was seen and
// that each rule bites: with a compiler it cannot use, this tool reports "no violations" over zero modules.

/** Folder of src/ → the folders of src/ it may import besides itself. */
const ARROWS = {
  protocol: [],
  core: ["protocol"],
  transport: ["protocol"],
  store: ["protocol", "core"],
  auth: ["protocol", "core"],
  discovery: ["protocol"],
  backends: ["protocol", "transport"],
  bridge: ["protocol", "config", "core", "backends", "transport"],
  hub: ["protocol", "config", "core", "transport", "store", "auth", "discovery", "backends", "bridge"],
  client: ["protocol"],
  config: ["protocol"],
  cli: ["protocol", "config", "bridge", "hub", "client"],
  web: ["protocol", "client"],
};

const arrow = ([folder, allowed]) => ({
  name: `arrow-${folder}`,
  comment: `src/${folder} may import ${allowed.length > 0 ? allowed.join(", ") : "packages only"}`,
  severity: "error",
  from: { path: `^src/${folder}/` },
  to: { path: "^src/", pathNot: `^src/(${[folder, ...allowed].join("|")})/` },
});

/** What an editor waits for when its agent starts (design §7): none of it may pull in a heavy package. */
const START_UP = "^src/(transport/ndjson|transport/line-splitter|transport/memory|backends/acp/)";

module.exports = {
  forbidden: [
    ...Object.entries(ARROWS).map(arrow),
    {
      name: "no-circular",
      comment: "types may refer to each other; values may not",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "unknown-folder",
      comment: "a new folder of src/ needs an arrow first",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: `^src/(${Object.keys(ARROWS).join("|")})/` },
    },
    {
      name: "core-no-node-builtins",
      comment: "the core runs anywhere; protocol and client run in a browser",
      severity: "error",
      from: { path: "^src/(core|protocol|client|web)/" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "core-no-packages",
      severity: "error",
      from: { path: "^src/core/" },
      to: { path: "node_modules" },
    },
    {
      name: "src-not-to-test",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|dist)/" },
    },
    {
      name: "start-up-is-lean",
      severity: "error",
      from: { path: START_UP },
      to: { path: "node_modules/(ws|zod|pino|fastify|jose|@agentclientprotocol)/", reachable: true },
    },
    {
      name: "no-unresolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    // Built in from Node 22.5 on; this tool may run on an older one.
    builtInModules: { add: ["node:sqlite"] },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".d.ts"],
    },
  },
};
