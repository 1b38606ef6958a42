/**
 * What the operating system gives the program, as an interface: arguments, environment, standard streams, signals. No other module
 * reads them. What a signal means is decided in `orderlyStop.ts`.
 */
import { oneLine } from "../../kube/printable.ts"

/** The standard output or the standard error stream. */
export interface Output {
  /** Takes text; never waits. */
  readonly write: (text: string) => unknown
  /** The number of buffered characters. */
  readonly writableLength?: number | undefined
  /** Whether it is a terminal. */
  readonly isTTY?: boolean | undefined
  /** The columns of the terminal. */
  readonly columns?: number | undefined
  /** Listens for errors such as a closed pipe. */
  readonly on: (event: "error", listener: () => void) => unknown
}

/** Writes one line with the program's name and a message. */
export const complain = ({ stderr }: Pick<Host, "stderr">, name: string, text: string): void =>
  void stderr.write(`${name}: ${oneLine(text)}\n`)

/** What a program needs of its process; Node's `process` is one. */
export interface Host {
  /** Node, the file, and the arguments of the command line. */
  readonly argv: ReadonlyArray<string>
  /** The environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard input, where a command reads it. */
  readonly stdin?: AsyncIterable<unknown> | undefined
  /** For results. */
  readonly stdout: Output
  /** For errors and logs. */
  readonly stderr: Output
  /** Listens to a signal. */
  readonly on: (signal: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => void) => unknown
  /** Calls the listeners of a signal. */
  readonly emit: (signal: "SIGTERM") => unknown
  /** Ends the process at once. */
  readonly exit: (code: number) => never
}
