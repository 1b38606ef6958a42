/**
 * The order of a run: the slowest files first, so that no worker waits for one of them at the end. vitest knows the durations of the last run of a
 * checkout. On a clean clone it orders by size, which is not a good estimate.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take more than half a minute each. */
const slow = [
  "test/scenario/stockRoles.test.ts",
  "test/scenario/kubectl/scenarios.test.ts",
  "test/scenario/housekeeping.test.ts",
  "test/scenario/serverFaults.test.ts",
  "test/platform/silence.test.ts",
  "test/scenario/watching.test.ts",
  "test/scenario/webhooks.test.ts",
  "test/scenario/kills/killed.test.ts",
  "test/conformance/real.test.ts",
  "test/sequences/withFaults.test.ts",
  "test/sequences/withoutFaults.test.ts",
  "test/sequences/focused.test.ts"
]

const isSlow = ({ moduleId }: TestSpecification): boolean => slow.some((path) => moduleId.endsWith(path))

export class SlowFirst extends BaseSequencer {
  /** The files of a project stay together: they may share processes. */
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const place = new Map([...new Set(sorted.map(({ project }) => project))].map((project, i) => [project, 2 * i]))
    const rank = (file: TestSpecification): number => (place.get(file.project) ?? 0) + (isSlow(file) ? 0 : 1)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
