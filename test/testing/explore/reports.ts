/** Reports of explorations that never ran, for tests of what is made of them. */
import type { Failure } from "../../../src/testing/explore/failures.ts"
import type { Merged } from "../../../src/testing/explore/report/merge.ts"
import type * as Record from "../../../src/testing/explore/record.ts"

/** A run of so many reads, the given one of which is perturbed. */
export const entriesOf = (count: number, perturbed: number): ReadonlyArray<Record.Entry> =>
  Array.from({ length: count }, (_, i) => ({
    type: "call" as const,
    at: i * 1000,
    n: i + 1,
    write: undefined,
    process: 1,
    verb: "get",
    resource: "pods",
    key: `default/p-${i + 1}`,
    outcome: "200",
    revision: undefined,
    ...(i + 1 === perturbed ? { perturbed: ["error" as const] } : {})
  }))

export const failure = (id: string, cause: string, also: ReadonlyArray<string> = []): Failure => ({
  id,
  rule: "leak",
  cause,
  message: `message of ${cause}`,
  details: [],
  where: [],
  writes: [],
  also,
  entries: []
})

export const report = (changes: Partial<Merged> = {}): Merged => ({
  name: "memcached",
  seed: 1,
  problem: undefined,
  undisturbed: { steps: 1, calls: 4, writes: 2, events: 3, runs: 2 },
  runs: 41,
  combinations: 0,
  coverage: [{ kind: "crash", points: 2, tried: 2 }],
  without: {},
  failures: [],
  millis: 1234,
  ...changes
})
