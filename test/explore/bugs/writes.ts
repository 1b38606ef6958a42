/** Mistakes in what a controller writes, in which order, and what it does about failures. */
import type { Bug } from "../Bug.ts"
import { bug as alreadyExistsFatal } from "./alreadyExistsFatal.ts"
import { bug as conflictSwallowed } from "./conflictSwallowed.ts"
import { bug as countedByRuns } from "./countedByRuns.ts"
import { bug as errorIgnored } from "./errorIgnored.ts"
import { bug as finalizerRemovedFirst } from "./finalizerRemovedFirst.ts"
import { bug as finalizerTooLate } from "./finalizerTooLate.ts"
import { bug as generatedNameLeaked } from "./generatedNameLeaked.ts"
import { bug as listOrder } from "./listOrder.ts"
import { bug as lostUpdate } from "./lostUpdate.ts"
import { bug as notFoundBlocksFinalizer } from "./notFoundBlocksFinalizer.ts"
import { bug as partialBatch } from "./partialBatch.ts"
import { bug as secondChildNeverCreated } from "./secondChildNeverCreated.ts"
import { bug as statusBeforeSpec } from "./statusBeforeSpec.ts"
import { bug as statusWithTime } from "./statusWithTime.ts"
import { bug as writeOfDefaults } from "./writeOfDefaults.ts"

export const writes: ReadonlyArray<Bug> = [
  secondChildNeverCreated,
  statusBeforeSpec,
  finalizerRemovedFirst,
  finalizerTooLate,
  generatedNameLeaked,
  conflictSwallowed,
  lostUpdate,
  errorIgnored,
  alreadyExistsFatal,
  notFoundBlocksFinalizer,
  writeOfDefaults,
  statusWithTime,
  countedByRuns,
  listOrder,
  partialBatch
]
