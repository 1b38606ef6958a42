/**
 * The program's logs on standard error: which lines are written, and in which format. Level and format are read for each line, because both may
 * change after the start.
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

/** The log format. Default: `console` on the embedded cluster, `json` on any other. */
class FormatChoice {
  private readonly chosen: Format | undefined
  private byCluster: Format = "console"

  constructor(chosen: Format | undefined) {
    this.chosen = chosen
  }

  get current(): Format {
    return this.chosen ?? this.byCluster
  }

  /** Called when the program connects to a cluster other than the embedded one. */
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
  /** Undefined: depends on the cluster. */
  readonly form: Format | undefined
  /** Whether repeated messages are sampled. */
  readonly isSampled: boolean
}

/** The options until the settings are resolved. */
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
    // All levels pass here: the logger filters, because the level may change while the program runs.
    Layer.succeed(References.MinimumLogLevel, "All")
  )
}

const first = 100
const thereafter = 100

/** The most messages that are counted separately in one second; all others share one counter. */
const mostCounts = 1024

/**
 * Samples repeated messages: in each second, of each level and message, the first hundred lines pass, and then every hundredth. Source: zap:
 * NewProductionConfig.
 */
export class Sampler {
  /** The current second, counted from 1970. */
  private second = Number.NaN
  /** Lines of this second by level and message: at most `mostCounts` entries and the shared one. */
  private readonly counts = new Map<string, number>()

  /** Whether the line is written. `millis`: when it was logged. */
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

/** The most characters that are buffered for a slow reader. */
const mostWaiting = 1024 * 1024

/**
 * An output stream that may be slow or closed. Lines are buffered up to a limit; beyond it they are dropped and counted, and the next line that
 * fits is preceded by that count. Writing never blocks and never fails. Control characters are escaped.
 */
class Sink {
  /** Dropped lines since the last one that was written. */
  private lost = 0
  private readonly output: Output

  constructor(output: Output) {
    this.output = output
  }

  /** `notice`: makes the line with the number of dropped lines. */
  write(line: string, notice: (lost: number) => string): void {
    // After a drop, waits until half the buffer is free. Otherwise a slow reader would get a notice with each line.
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
