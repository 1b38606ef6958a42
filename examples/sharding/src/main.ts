/** The program: `node dist/main.js --sharding`. */
import { run } from "effect-controller-manager/node"
import { hostname } from "node:os"
import process from "node:process"
import { Greeter } from "./Greeter.ts"

run({
  name: "sharding",
  version: "0.1.0",
  description: "Greets config maps, on as many replicas as there are.",
  controllers: [Greeter(process.env["REPLICA"] ?? hostname())]
})
