/**
 * The table of all controllers the program can run: data for `--controllers`, `--help` and permissions. A controller that is
 * not in it does not exist for the program.
 */
import type * as Schedule from "effect/Schedule"
import type * as Selector from "../kube/Selector.ts"
import type { Entry } from "../layers/manager/roster.ts"
import type { Run } from "../layers/Schedules.ts"
import * as PodCount from "./PodCount.ts"

export interface Settings {
  readonly podCount: {
    readonly schedule: Schedule.Schedule<unknown, Run>
    readonly nodeSelector: Selector.LabelSelector | undefined
  }
}

export const roster = (settings: Settings): ReadonlyArray<Entry> => [
  {
    controller: PodCount.make(settings.podCount),
    byDefault: "on",
    summary: "labels the control-plane nodes with the number of pods and records it on each pod"
  }
]
