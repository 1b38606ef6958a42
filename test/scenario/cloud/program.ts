/**
 * A program with a cloud of its own, and one controller that uses it: a label of each node has the type of its machine. For the scenarios of
 * `cloud.test.ts`; not an example.
 */
import * as Effect from "effect/Effect"
import { Access, CloudProvider, Controller, Node, Patch } from "../../../src/index.ts"
import { run } from "../../../src/node.ts"

const machineType = Controller.make({
  name: "typist",
  for: Node,
  cloud: true,
  access: [Access.patch(Node)],
  reconcileObject: ({ metadata: { labels, name }, spec }, { client }) =>
    Effect.gen(function* () {
      const cloud = yield* CloudProvider
      const type = (yield* cloud.metadata({ name, providerId: spec?.providerID }))?.type
      if (type === undefined || labels?.["type"] === type) return
      yield* client.patch(Node, { name }, Patch.merge({ metadata: { labels: { type } } }))
    })
})

run({
  name: "own-cloud",
  controllers: [machineType],
  services: CloudProvider.layerMemory((node) => ({ instance: { type: `large-${node}` } }))
})
