/**
 * The status column of `kubectl get pods`: the phase, unless a container, an init container or a deletion gives a more specific
 * reason. Source: pkg/printers/internalversion: printPod.
 */
import { arrayAt, at, numberAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"

const exitWord = (terminated: Json): string => {
  const reason = textAt(terminated, "reason")
  if (reason !== "") return reason
  const signal = at(terminated, "signal")
  return typeof signal === "number" && signal !== 0
    ? `Signal:${signal}`
    : `ExitCode:${numberAt(terminated, "exitCode")}`
}

/** The statuses of init containers that run beside the others. */
export const sidecarStatuses = (object: JsonObject): ReadonlyArray<Json> => {
  const sidecars = new Set(
    arrayAt(object, "spec", "initContainers").flatMap((one) =>
      textAt(one, "restartPolicy") === "Always" ? [textAt(one, "name")] : []
    )
  )
  return arrayAt(object, "status", "initContainerStatuses").filter((one) => sidecars.has(textAt(one, "name")))
}

const initStatus = (object: JsonObject): string | undefined => {
  const total = arrayAt(object, "spec", "initContainers").length
  const sidecars = sidecarStatuses(object)
  for (const [index, container] of arrayAt(object, "status", "initContainerStatuses").entries()) {
    if (sidecars.includes(container) && at(container, "started") === true) continue
    const terminated = at(container, "state", "terminated")
    if (terminated !== undefined) {
      if (at(terminated, "exitCode") === 0) continue
      return `Init:${exitWord(terminated)}`
    }
    const waiting = textAt(container, "state", "waiting", "reason")
    return waiting !== "" && waiting !== "PodInitializing" ? `Init:${waiting}` : `Init:${index}/${total}`
  }
  return undefined
}

/** The reason of the first container that is waiting or terminated. */
const containerStatus = (object: JsonObject): string | undefined => {
  let word: string | undefined
  let running = false
  for (const container of arrayAt(object, "status", "containerStatuses").toReversed()) {
    const waiting = textAt(container, "state", "waiting", "reason")
    const terminated = at(container, "state", "terminated")
    if (waiting !== "") word = waiting
    else if (terminated !== undefined) word = exitWord(terminated)
    else if (at(container, "ready") === true && at(container, "state", "running") !== undefined) running = true
  }
  return word === "Completed" && running ? "Running" : word
}

export const podStatus = (object: JsonObject): string => {
  const phase = textAt(object, "status", "reason") || textAt(object, "status", "phase")
  const word = initStatus(object) ?? containerStatus(object) ?? phase
  if (textAt(object, "metadata", "deletionTimestamp") === "") return word
  return textAt(object, "status", "reason") === "NodeLost" ? "Unknown" : "Terminating"
}
