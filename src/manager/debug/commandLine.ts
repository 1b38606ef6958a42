/** The arguments of a process as they may be shown: the value of a secret setting is not. Pure. */
import * as Setting from "../setting.ts"

export const shown = (argv: ReadonlyArray<string>, settings: Setting.Settings): ReadonlyArray<string> => {
  const secret = Object.values(settings)
    .filter((setting) => setting.isSecret)
    .flatMap(({ aliases, name }) => [name].concat(aliases))
  const isSecret = (flag: string | undefined): boolean => flag !== undefined && secret.includes(Setting.canonical(flag))
  let isNext = false
  return argv.map((argument) => {
    const [, flag, value] = /^--?([^=]+)(?:=([^]*))?$/.exec(argument) ?? []
    const hidden = isNext
    isNext = isSecret(flag) && value === undefined
    if (hidden) return "<redacted>"
    return isSecret(flag) && value !== undefined
      ? argument.slice(0, argument.indexOf("=") + 1) + "<redacted>"
      : argument
  })
}
