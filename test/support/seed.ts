/** Runs before each test file: every property starts at the same seed, so that a failure comes from a change and not from another random sequence. */
import * as Arbitrary from "effect/Arbitrary"
import { seed } from "./runs.ts"

Arbitrary.configureGlobal({ check: { seed }, sample: { seed } })
