/**
 * The last line of a terminal, for the progress of long work. Whatever the program writes to the terminal goes through the host of this module, which
 * erases the line first and draws it again after the text: log lines and the bar never overwrite each other.
 */
import type { Host, Output } from "../process/Host.ts"
import type { Style } from "./render.ts"

export interface StatusLine {
  /** What the terminal can show now; its width may change. */
  readonly style: () => Style
  /** Replaces the line. */
  readonly show: (line: string) => void
  /** Removes the line. */
  readonly hide: () => void
}

/** The host of the program, and the status line of its terminal. */
export interface Attached {
  readonly host: Host
  /** Undefined: standard error is no terminal, or a continuous integration service reads it. */
  readonly status: StatusLine | undefined
}

/** To the first column, and erase to the end of the line. Source: ECMA-48 CR, EL. */
const erase = "\r\u001b[K"

/** The columns of a terminal that does not report them, or reports 0 as a new pseudo terminal does. */
const usualWidth = 80

/** Wraps the streams of a host whose standard error is a terminal; another host stays as it is. */
export const attach = (host: Host): Attached => {
  const { env, stderr, stdout } = host
  if (stderr.isTTY !== true || isSet(env["CI"]) || env["TERM"] === "dumb") return { host, status: undefined }
  let shown = ""
  const around = (output: Output): Output => ({
    write: (text) => {
      if (shown === "") return output.write(text)
      stderr.write(erase)
      const written = output.write(text)
      // A text without a line feed continues in this line, so the status is drawn with the next frame.
      if (text.endsWith("\n")) stderr.write(shown)
      else shown = ""
      return written
    },
    on: (event, listener) => output.on(event, listener),
    get writableLength() {
      return output.writableLength
    },
    get isTTY() {
      return output.isTTY
    },
    get columns() {
      return output.columns
    }
  })
  const hide = () => {
    if (shown !== "") stderr.write(erase)
    shown = ""
  }
  const own: Host = {
    argv: host.argv,
    env,
    stdout: stdout.isTTY === true ? around(stdout) : stdout,
    stderr: around(stderr),
    on: (signal, listener) => host.on(signal, listener),
    emit: (signal) => host.emit(signal),
    exit: (code) => {
      hide()
      return host.exit(code)
    }
  }
  return {
    host: own,
    status: {
      style: () => ({
        width: stderr.columns || usualWidth,
        isUnicode: isUnicode(env),
        // Whatever its value is. Source: no-color.org.
        isColored: (env["NO_COLOR"] ?? "") === ""
      }),
      hide,
      show: (line) => {
        // A terminal that is read too slowly skips frames.
        if (line === shown || (stderr.writableLength ?? 0) > 0) return
        shown = line
        stderr.write(erase + line)
      }
    }
  }
}

/** Set to anything but empty text and a denial. */
const isSet = (value: string | undefined): boolean => value !== undefined && value !== "" && value !== "false"

/** The character encoding of the locale. Source: POSIX, the order of the variables. */
const isUnicode = (env: Host["env"]): boolean => {
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find((one) => one !== undefined && one !== "")
  return /utf-?8$/i.test(locale?.slice(-8) ?? "")
}
