// Preloaded into a hub under test: it dials public names only, and this is how the name of the test's push service leads there.
import https from "node:https";

https.globalAgent.options.lookup = (_name, { all }, done) =>
  all === true ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
