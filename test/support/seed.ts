/** Set up before each test file: every property begins at the same seed, so that a failed run is about the change and not about luck. */
import * as Arbitrary from "effect/Arbitrary"
import { seed } from "./runs.ts"

Arbitrary.configureGlobal({ check: { seed }, sample: { seed } })
