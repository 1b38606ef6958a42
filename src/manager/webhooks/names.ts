/** What the objects around a program's webhooks are called: by the manifests that print them, and by the program that looks for them. Pure. */
import type { Service } from "./configurations.ts"

export interface Names {
  /** Of the Service that the API server calls. */
  readonly service: string
  /** Of the Secret with the certificate, mounted or kept. */
  readonly secret: string
  /** Of both configurations. */
  readonly configuration: string
}

export const names = (program: string): Names => ({
  service: `${program}-webhook`,
  secret: `${program}-webhook-cert`,
  configuration: program
})

/** How an API server reaches a program in its own cluster. */
export const serviceOf = (program: string, namespace: string): Service => ({
  namespace,
  name: names(program).service,
  port: 443
})
