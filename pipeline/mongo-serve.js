// Serves MongoDB's embedded engine on a port of 127.0.0.1: node mongo-serve.js PACKAGE FOLDER PORT
"use strict";

const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");

const [, , home, folder, port] = process.argv;

// The package puts its socket into the temporary folder. This one goes with the data, even after a
// kill, and is named from where we stand: the path of a socket may have no more than 107 letters.
const run = path.join(folder, "run");
fs.mkdirSync(run, { recursive: true });
process.chdir(run);
process.env.TMPDIR = ".";

const { open } = require(home);

function join(one, other) {
  one.pipe(other);
  one.on("error", () => other.destroy());
  one.on("close", () => other.destroy());
}

function fail(error) {
  console.error(error.code === "EADDRINUSE" ? `port ${port} is in use` : error);
  process.exit(1);
}

// Only once the engine is open: it is refused a folder that another one serves.
function removeSocketsOfTheKilled(own) {
  for (const name of fs.readdirSync(".")) {
    if (name !== path.basename(path.dirname(own))) fs.rmSync(name, { recursive: true, force: true });
  }
}

async function serve() {
  const engine = await open(path.join(folder, "db"));
  removeSocketsOfTheKilled(engine.socketPath);
  const server = net.createServer({ noDelay: true }, (outside) => {
    const inside = net.connect(engine.socketPath);
    join(outside, inside);
    join(inside, outside);
  });
  const end = () => engine.close().then(() => process.exit(0), fail);
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  server.on("error", (error) => engine.close().finally(() => fail(error)));
  server.listen(Number(port), "127.0.0.1", () => console.log(`listening on 127.0.0.1:${port}`));
}

serve().catch(fail);
