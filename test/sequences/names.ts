/** The namespace of the Deployments of a sequence. */
export const namespace = "default"
