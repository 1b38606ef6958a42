/** Output and exit codes: results go to standard output, logs, help and errors to standard error. An error is one line. */
import * as Cause from "effect/Cause"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Runtime from "effect/Runtime"
import * as CommandLine from "./commandLine.ts"
import * as Help from "./help.ts"
import { complain, type Host } from "./Host.ts"
import * as Logs from "../logs/Logs.ts"
import { clean } from "../logs/secrets.ts"
import type { Settings } from "../../layers/Setting.ts"
import { SettingError } from "../setting/sources.ts"

/** The program's name and all settings of its commands, for messages. */
export interface ProgramInfo {
  readonly name: string
  readonly settings: Settings
}

/** Logs, help and errors. */
export const layer = (host: Host, program: ProgramInfo) =>
  Layer.mergeAll(Logs.layer(host, Logs.initial), presenter(host, program), globals)

/** One line to standard error for whatever ended the program, and none for a signal. */
export const report = (host: Host, name: string, cause: Cause.Cause<unknown>): void => {
  if (Cause.hasInterruptsOnly(cause)) return
  const error = Cause.squash(cause)
  if (CliError.isCliError(error)) return
  const text = error instanceof Error && error.message !== "" ? error.message : String(error)
  const more = error instanceof SettingError ? "; see --help" : ""
  complain(host, name, `${clean(text)}${more}`)
}

/** 0 for success and for a signal, 2 for a wrong command line and for errors of the kinds given, 1 for the rest. */
export const exitCode =
  (usageErrors: ReadonlyArray<abstract new (...args: never) => unknown>): Runtime.Teardown =>
  (exit, onExit) => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
    const error = Cause.squash(exit.cause)
    if (CliError.isCliError(error)) return onExit(error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : 2)
    return onExit(usageErrors.some((kind) => error instanceof kind) ? 2 : 1)
  }

const globals = Layer.succeed(
  CliConfig.CliConfig,
  CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
)

/** Help with headings, the bare version number for scripts, and one line instead of the whole help for a wrong command line. */
const presenter = (host: Host, { name, settings }: ProgramInfo) =>
  CliOutput.layerPresenter({
    present: (event) => {
      switch (event._tag) {
        case "Help":
          return Effect.sync(() => void host.stdout.write(`${Help.render(event.helpDoc, settings)}\n`))
        case "Version":
          return Effect.sync(() => void host.stdout.write(`${event.version}\n`))
        case "InvalidInvocation":
          return Effect.sync(() => {
            const text = event.errors.map(CommandLine.explain).join("; ")
            complain(host, name, `${text}; see --help`)
          })
      }
    }
  })
