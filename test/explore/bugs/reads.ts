/** The bugs of what controllers read, remember and assume. */
import type { Bug } from "../Bug.ts"
import { bug as absenceIsFinal } from "./absenceIsFinal.ts"
import { bug as boundaryValue } from "./boundaryValue.ts"
import { bug as clockJump } from "./clockJump.ts"
import { bug as countFromStaleCache } from "./countFromStaleCache.ts"
import { bug as countedTwice } from "./countedTwice.ts"
import { bug as lateWrite } from "./lateWrite.ts"
import { bug as missedDeletion } from "./missedDeletion.ts"
import { bug as missedTransition } from "./missedTransition.ts"
import { bug as missingRequeue } from "./missingRequeue.ts"
import { bug as observedGeneration } from "./observedGeneration.ts"
import { bug as ownerCreatedAgain } from "./ownerCreatedAgain.ts"
import { bug as recreatedNamesake } from "./recreatedNamesake.ts"
import { bug as staleScaleDown } from "./staleScaleDown.ts"
import { bug as twoPrimaries } from "./twoPrimaries.ts"

export const reads: ReadonlyArray<Bug> = [
  absenceIsFinal,
  boundaryValue,
  clockJump,
  countFromStaleCache,
  countedTwice,
  lateWrite,
  missedDeletion,
  missedTransition,
  missingRequeue,
  observedGeneration,
  ownerCreatedAgain,
  recreatedNamesake,
  staleScaleDown,
  twoPrimaries
]
