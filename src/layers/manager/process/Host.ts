/**
 * What the operating system gives the program, as an interface: arguments, environment, standard streams, signals. Nobody else
 * reads them. What a signal means is decided in `orderlyStop.ts`.
 */
/** A standard stream. */
export interface Output {
  readonly write: (text: string) => unknown
  /** What it has taken and not passed on yet. */
  readonly writableLength?: number | undefined
  readonly on: (event: "error", listener: () => void) => unknown
}

export interface Host {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: Output
  readonly stderr: Output
  readonly on: (signal: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => void) => unknown
  /** Calls the listeners of a signal as if it had come. */
  readonly emit: (signal: "SIGTERM") => unknown
  readonly exit: (code: number) => never
}
