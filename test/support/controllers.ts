/** The controllers of this program with settings as on a command line; what is not there has its default. */
import * as Result from "effect/Result"
import { registry } from "../../src/controllers/registry.ts"
import * as Program from "../../src/manager/Program.ts"
import { resolve } from "../../src/manager/setting/sources.ts"

const program = Result.getOrThrow(Program.make({ name: "effect-controller-manager", controllers: registry }))

/** All settings of the program, those of its controllers among them. */
export const { gates, settings } = program

/** `flags`: values by the names of the settings. */
export const tableOf = (flags: Readonly<Record<string, string>> = {}): ReturnType<typeof program.table> =>
  program.table(Result.getOrThrow(resolve(settings, { flags: new Map(Object.entries(flags)), env: {} })))

export const table = tableOf()
