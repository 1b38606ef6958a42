/** What users are told of a CronJob, as data: words and all as in kube-controller-manager. Source: spec G.7. */
export interface News {
  readonly type: "Normal" | "Warning"
  readonly reason: string
  readonly message: string
}

export const normal = (reason: string, message: string): News => ({ type: "Normal", reason, message })

export const warning = (reason: string, message: string): News => ({ type: "Warning", reason, message })
