import { messageOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

const WORDS: Readonly<Record<string, Message>> = {
  ECONNREFUSED: msg`the connection was refused: nothing answers there`,
  ENOTFOUND: msg`there is no host with this name`,
  EAI_AGAIN: msg`the name of the host cannot be resolved now`,
  ETIMEDOUT: msg`the connection timed out`,
  EHOSTUNREACH: msg`there is no route to it`,
  ENETUNREACH: msg`there is no route to it`,
  ENETDOWN: msg`the network is down`,
  EADDRNOTAVAIL: msg`there is no route to it`,
  ECONNRESET: msg`the connection was lost`,
  ECONNABORTED: msg`the connection was lost`,
  EPIPE: msg`the connection was lost`,
  EPROTO: msg`it does not speak TLS as expected`,
  CERT_HAS_EXPIRED: msg`its certificate has expired`,
  CERT_NOT_YET_VALID: msg`its certificate is not valid yet; is the clock right?`,
  ERR_TLS_CERT_ALTNAME_INVALID: msg`its certificate belongs to another host`,
  DEPTH_ZERO_SELF_SIGNED_CERT: msg`its certificate is not trusted`,
  SELF_SIGNED_CERT_IN_CHAIN: msg`its certificate is not trusted`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: msg`its certificate is not trusted`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: msg`its certificate is not trusted`,
};

/** Describes a failed connection in words, with its code. For a host with several addresses it uses the first error. */
export function describeNetworkError(thrown: unknown): Message {
  const first: unknown = thrown instanceof AggregateError ? (thrown.errors[0] ?? thrown) : thrown;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  const words = WORDS[code];
  return words === undefined ? messageOf(first) || code : msg`${words} (${code})`;
}
