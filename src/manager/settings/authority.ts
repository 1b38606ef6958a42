/** What the cluster vouches with: for the controllers that make tokens and publish authorities. */
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

export const settings = {
  serviceAccountKeyFile: Setting.optional(Codecs.text("file"), {
    name: "service-account-private-key-file",
    group: "tuning",
    description:
      "File with the private key, RSA or elliptic, in PEM, that tokens of service accounts are signed with; without it serviceaccount-token runs on the embedded cluster only, with that cluster's key"
  }),
  rootCaFile: Setting.optional(Codecs.text("file"), {
    name: "root-ca-file",
    group: "tuning",
    description:
      "File with the authorities, in PEM, by which pods are to know the API server; without it those by which this program knows it"
  })
}
