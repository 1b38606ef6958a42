/** The program: `node dist/main.js --help`. */
import { run } from "effect-controller-manager/node"
import { Edge } from "./Edge.ts"
import { Mirror } from "./Mirror.ts"

run({
  name: "multi-cluster",
  version: "0.1.0",
  description: "Keeps config maps of one cluster in another one.",
  controllers: [{ controller: Mirror, byDefault: "on", summary: "mirrors config maps with the label mirror=edge" }],
  // Without this layer the line above does not compile, because the controller requires an Edge.
  services: Edge.layerKubeConfig
})
