import { it } from "@effect/vitest"
import { backup } from "./backup.explore.ts"

it.effect("makes each backup once, whatever fails", () => backup.check(), { timeout: 60_000 })
