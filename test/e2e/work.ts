/** Jobs as that suite creates them: four completions, two pods at once, and commands for the result of each pod. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

export const succeeds = ["true"]
export const fails = ["false"]
export const keepRunning = ["sleep", "1000000"]

/** Ends a pod's container with that code from now on, whatever its command is. Simulated machines read the annotation, because they run no shell. */
export const exit = (pod: Pod, code: number) =>
  Harness.patch(Pod, pod.metadata.name, { metadata: { annotations: { "simulation/exit": `main=${code}` } } })

/** How long that suite waits for a Job. */
export const timeout = "15 minutes"

export const job = (command: ReadonlyArray<string>, spec: object = {}, pod: object = {}, metadata: object = {}) => ({
  metadata: { name: "work", ...metadata },
  spec: {
    parallelism: 2,
    completions: 4,
    template: { spec: Harness.spec("work:1", command, { restartPolicy: "Never", ...pod }) },
    ...spec
  }
})

export const podsOf = Harness.list(Pod, "job-name=work")

/** Waits until a condition is true for that reason. */
export const condition = (type: string, reason: string) =>
  Harness.until(
    Effect.map(Harness.get(Job, "work"), ({ status }) =>
      assert.deepInclude(
        status?.conditions?.find((one) => one.type === type),
        { status: "True", reason }
      )
    ),
    timeout
  )
