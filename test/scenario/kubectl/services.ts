/** A Service from a user's view: its addresses follow the pods behind it, in Endpoints and in slices. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually, shows, type Scenario } from "./harness.ts"

export const services: Scenario = Effect.fnUntraced(function* (kubectl, server) {
  const { json, ok, send } = kubectl
  const isSliced = server === "present"
  yield* ok("create deployment web --image=example.test/web:1 --replicas=3 --port=8080")
  yield* ok("expose deployment web --port=80 --target-port=8080")
  yield* ok("rollout status deployment/web --timeout=120s")
  const addresses = "jsonpath={.subsets[0].addresses[*].ip}"
  const listed = (what: string) => Effect.map(ok(what), (text) => words(text).toSorted())
  const path = "jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].addresses[0]}"
  /** Waits until there are this many pods, and both name the same addresses. */
  const settled = (count: number) =>
    eventually(
      `${count} pods are behind the Service`,
      Effect.gen(function* () {
        const pods = yield* listed("get pods -l app=web -o jsonpath={.items[*].status.podIP}")
        const named = yield* listed(
          "get endpoints --field-selector=metadata.name=web -o jsonpath={.items[*].subsets[0].addresses[*].ip}"
        )
        const inSlices = isSliced
          ? yield* listed(`get endpointslices -l kubernetes.io/service-name=web -o ${path}`)
          : named
        return pods.length === count && pods.join() === named.join() && pods.join() === inSlices.join()
      })
    )
  yield* settled(3)
  const found = yield* ok("get endpoints web")
  assert.match(found, /^web +\d+\.\d+\.\d+\.\d+:8080,\S+:8080,\S+:8080 /m)
  if (isSliced) {
    assert.match(yield* ok("get endpointslices"), /^web-\w{5} +IPv4 +8080 +\S+,\S+,\S+ /m)
    yield* shows(kubectl, "describe service web", /Endpoints: +\S+:8080,\S+:8080,\S+:8080\n/)
  }
  yield* ok("scale deployment web --replicas=1")
  yield* settled(1)

  // A pod that fails its probe is listed as not ready.
  yield* ok("annotate pods -l app=web simulation/unready=web")
  yield* eventually(
    "the address is not ready",
    Effect.map(ok(`get endpoints web -o ${addresses}`), (text) => text === "")
  )
  assert.notStrictEqual(yield* ok("get endpoints web -o jsonpath={.subsets[0].notReadyAddresses[*].ip}"), "")
  yield* ok("annotate pods -l app=web simulation/unready-")
  yield* settled(1)

  // A selector without matches empties both; without a selector they belong to the user.
  yield* ok(["patch", "service", "web", "-p", '{"spec":{"selector":{"app":"none"}}}'])
  yield* eventually(
    "nothing is selected",
    Effect.map(ok("get endpoints web -o jsonpath={.subsets}"), (text) => text === "")
  )
  yield* send("create", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "manual" },
    spec: { ports: [{ port: 80 }] }
  })
  yield* send("create", {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "manual" },
    subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }]
  })
  yield* ok("delete service web")
  yield* ok("wait endpoints/web --for=delete --timeout=120s")
  assert.deepNestedInclude(yield* json("endpoints manual"), { "subsets[0].addresses": [{ ip: "192.0.2.1" }] })
  if (isSliced) yield* ok("wait endpointslices -l kubernetes.io/service-name=web --for=delete --timeout=120s")
})

const words = (text: string): ReadonlyArray<string> => text.split(" ").filter((word) => word !== "")
