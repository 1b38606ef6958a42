/** Copies of modules of `src/streams`, without the lines of tracing and with them; `scripts/untraced.mjs` makes them. */
declare module "untraced:*" {
  const module: unknown
  export default module
}

declare module "traceable:*" {
  const module: unknown
  export default module
}
