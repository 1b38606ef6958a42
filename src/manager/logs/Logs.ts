/**
 * The program's logs: which lines are written, in which format, to standard error. It reads the level and the format for each line, because
 * both may change after the start. Results go to standard output instead.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import { printable } from "../../kube/printable.ts"
import type { Host, Output } from "../process/Host.ts"
import * as Level from "./level.ts"
import * as Line from "./line.ts"

export type Format = "json" | "console"

/** The format of the lines. Without a setting it follows from the cluster: `console` for the embedded one, `json` for any other. */
class FormatChoice {
  private readonly chosen: Format | undefined
  private byCluster: Format = "console"

  constructor(chosen: Format | undefined) {
    this.chosen = chosen
  }

  get current(): Format {
    return this.chosen ?? this.byCluster
  }

  /** The cluster is not the embedded one. */
  onRealCluster(): void {
    this.byCluster = "json"
  }
}

/** The format of this process's log lines. */
export const CurrentFormat = Context.Reference<FormatChoice>("effect-controller-manager/LogFormat", {
  defaultValue: () => new FormatChoice("console")
})

export interface Options extends Line.Style {
  readonly level: LogLevel.LogLevel
  /** Undefined: as suits the cluster. */
  readonly form: Format | undefined
  /** Whether messages that repeat are thinned out. */
  readonly isSampled: boolean
}

/** Before the settings are resolved. */
export const initial: Options = {
  level: "Info",
  form: "console",
  isSampled: false,
  stacktraceLevel: "Error",
  time: undefined
}

export const layer = (host: Host, options: Options) => {
  const level = new Level.MinimumLevel(options.level)
  const form = new FormatChoice(options.form)
  return Layer.mergeAll(
    Logger.layer([logger(host, options, level, form)]),
    Layer.succeed(Level.Current, level),
    Layer.succeed(CurrentFormat, form),
    // The logger decides, because the level may change while the program runs.
    Layer.succeed(References.MinimumLogLevel, "All")
  )
}

const first = 100
const thereafter = 100

/** Messages counted apart within a second; those that come later share one count. */
const mostCounts = 1024

/**
 * Keeps a repeated message from drowning the rest: in each second, of each level and message the first hundred lines pass, and then every
 * hundredth. Pure but for its counts. Source: zap: NewProductionConfig.
 */
export class Sampler {
  /** The second that is counted, since 1970. */
  private second = Number.NaN
  /** Lines of this second by level and message; never more than `mostCounts` and the shared one. */
  private readonly counts = new Map<string, number>()

  /** Whether the line is to be written. `millis`: when it was logged. */
  admits(level: string, message: string, millis: number): boolean {
    const second = Math.floor(millis / 1000)
    if (second !== this.second) {
      this.second = second
      this.counts.clear()
    }
    const own = `${level} ${message}`
    const key = this.counts.has(own) || this.counts.size < mostCounts ? own : ""
    const count = (this.counts.get(key) ?? 0) + 1
    this.counts.set(key, count)
    return count <= first || (count - first) % thereafter === 0
  }
}

/** Characters that may wait for a slow reader. */
const mostWaiting = 1024 * 1024

/**
 * A stream that may be slow, or closed. Lines that it has not taken yet are kept up to a bound; beyond it they are lost and counted, and the
 * next line that fits is preceded by their number. Writing never waits and never fails. Control characters of a terminal are escaped.
 */
class Sink {
  /** Since the last line that was written. */
  private lost = 0
  private readonly output: Output

  constructor(output: Output) {
    this.output = output
  }

  /** `notice`: the line with the number of lost lines. */
  write(line: string, notice: (lost: number) => string): void {
    // Half the bound before it goes on, or a reader that takes a line now and then would get a notice with each.
    if ((this.output.writableLength ?? 0) > (this.lost === 0 ? mostWaiting : mostWaiting / 2)) {
      this.lost++
      return
    }
    if (this.lost > 0) this.output.write(`${notice(this.lost)}\n`)
    this.lost = 0
    this.output.write(`${printable(line)}\n`)
  }
}

const logger = (host: Host, options: Options, level: Level.MinimumLevel, form: FormatChoice) => {
  const sampler = options.isSampled ? new Sampler() : undefined
  const sink = new Sink(host.stderr)
  const written = (said: Logger.Options<unknown>) =>
    form.current === "json" ? Line.json(options, said) : Line.console(options, said)
  return Logger.make((said) => {
    if (!level.admits(said.logLevel)) return
    if (sampler?.admits(said.logLevel, Line.messageOf(said), said.date.getTime()) === false) return
    sink.write(written(said), (lost) =>
      written({
        ...said,
        logLevel: "Warn",
        message: `${lost} lines were lost, because standard error is not read fast enough`
      })
    )
  })
}
