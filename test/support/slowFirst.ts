/**
 * The order of a run: the slowest files first, so that no worker waits for one of them at the end. vitest knows the durations of the last run of a
 * checkout. On a clean clone it orders by size, which is not a good estimate.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take more than a third of a minute each, the slowest first. */
const slow = [
  "test/scenario/kubectl/scenarios.test.ts",
  "test/scenario/stockRoles.test.ts",
  "test/conformance/real.test.ts",
  "test/scenario/watching.test.ts",
  "test/scenario/webhooks.test.ts",
  "test/scenario/housekeeping.test.ts",
  "test/scenario/serverFaults.test.ts",
  "test/scenario/rollout.test.ts",
  "test/scenario/permissions.test.ts",
  "test/platform/silence.test.ts",
  "test/scenario/leadership/killed.test.ts",
  "test/scenario/secrets.test.ts",
  "test/scenario/kills/killed.test.ts",
  "test/scenario/hostileReconcile.test.ts",
  "test/scenario/longRun.test.ts",
  "test/scenario/operators.test.ts",
  "test/scenario/stopAnywhere.test.ts",
  "test/scenario/leaderFaults.test.ts",
  "test/conformance/https.test.ts",
  "test/scenario/kills/budgets.test.ts",
  "test/scenario/leadership/cut.test.ts",
  "test/scenario/check.test.ts",
  "test/scenario/kills/statefulsets.test.ts",
  "test/controllers/shared/nodes/realServer.test.ts",
  "test/sequences/withFaults.test.ts",
  "test/sequences/withoutFaults.test.ts",
  "test/sequences/focused.test.ts"
]

/** The place of a file among the slow ones; the others come after them. */
const placeOf = ({ moduleId }: TestSpecification): number => {
  const found = slow.findIndex((path) => moduleId.endsWith(path))
  return found === -1 ? slow.length : found
}

export class SlowFirst extends BaseSequencer {
  /** The files of a project stay together: they may share processes. */
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((a, b) => placeOf(a) - placeOf(b))
    )
  }
}
