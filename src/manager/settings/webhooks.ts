/** Settings of the webhook server: whether it runs, its address and its certificate. */
import * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

const port: Codecs.Codec<number> = {
  ...Codecs.integer({ min: -1, max: 65_535, expected: "a port from 0 to 65535, or -1 for none" }),
  metavar: "port"
}

export const settings = {
  skipWebhookConfig: Setting.make(Codecs.boolean, {
    name: "skip-webhook-config",
    // As in kubebuilder projects, where the variable has the opposite meaning.
    variable: {
      name: "ENABLE_WEBHOOKS",
      shown: "ENABLE_WEBHOOKS=false",
      read: (text) =>
        Option.match(Codecs.boolean.decode(text), { onNone: () => text, onSome: (enabled) => String(!enabled) })
    },
    group: "webhooks",
    description: "Do not serve webhooks",
    default: "true"
  }),
  webhookPort: Setting.make(port, {
    name: "webhook-port",
    group: "webhooks",
    description: "Port of the webhooks; 0 is any free port, -1 turns them off",
    default: "9443"
  }),
  webhookHost: Setting.optional(Codecs.text("host"), {
    name: "webhook-host",
    group: "webhooks",
    description: "Address of the webhooks; default is all interfaces, and 127.0.0.1 on the embedded cluster"
  }),
  webhookCertPath: Setting.optional(Codecs.text("directory"), {
    name: "webhook-cert-path",
    group: "webhooks",
    description: "Directory with the certificate of the webhooks, such as a mounted Secret; read again when it changes"
  }),
  webhookCertName: Setting.make(Codecs.text("file"), {
    name: "webhook-cert-name",
    group: "webhooks",
    description: "Name of the certificate in that directory",
    default: "tls.crt"
  }),
  webhookCertKey: Setting.make(Codecs.text("file"), {
    name: "webhook-cert-key",
    group: "webhooks",
    description: "Name of its key in that directory",
    default: "tls.key"
  }),
  webhookClientCa: Setting.optional(Codecs.text("file"), {
    name: "webhook-client-ca-name",
    group: "webhooks",
    description:
      "Name of a file in that directory with authorities: clients must have a certificate signed by one of them"
  }),
  webhookSelfSigned: Setting.make(Codecs.boolean, {
    name: "webhook-self-signed",
    group: "webhooks",
    description:
      "Create, share and renew the certificate, and publish its authority to the API server; the default on the embedded cluster without a directory",
    default: "false"
  })
}
