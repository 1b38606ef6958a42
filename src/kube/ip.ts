/**
 * What is an IP address as text, in the strict form of the API: no leading zeros, no zones, no brackets. Pure.
 * Source: apimachinery validation of addresses.
 */
const octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`)

export const isIPv4 = (text: string): boolean => ipv4.test(text)

export const isIP = (text: string): boolean =>
  isIPv4(text) ||
  (text.includes(":") && /^[0-9a-fA-F:]+(\d+\.\d+\.\d+\.\d+)?$/.test(text) && text.split("::").length <= 2)
