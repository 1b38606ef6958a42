/** The form for a token, which stays in the memory of the page. */
import { useEffect, useRef } from "preact/hooks"
import { usePage } from "../parts/hooks.ts"

export const SignIn = ({ message }: { readonly message: string | undefined }) => {
  const { connection } = usePage()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <main class="sign-in">
      <h1>Console</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          connection.useToken(field.current?.value.trim() ?? "")
        }}
      >
        <label for="token">Token</label>
        <input
          ref={field}
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="token-help"
        />
        <p id="token-help" class="muted">
          The program prints the console’s address with a token when it starts: open that address, or enter the token
          here. Where the console is served over HTTPS, enter a token of the cluster, such as that of{" "}
          <code>kubectl create token</code>. It stays in the memory of this page.
        </p>
        {message !== undefined && (
          <p class="error" role="alert">
            {message}
          </p>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  )
}
