/** The program: `node dist/main.js --help`. */
import { configured } from "effect-controller-manager"
import { run } from "effect-controller-manager/node"
import * as MemcachedController from "./MemcachedController.ts"

run({
  name: "memcached-operator",
  version: "0.1.0",
  description: "Runs memcached servers.",
  controllers: [configured(MemcachedController, { byDefault: "on", summary: "keeps a Deployment for each Memcached" })]
})
