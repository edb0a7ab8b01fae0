import { useEffect, useState } from 'preact/hooks';
import { type Explanation, get, pathOf, type Signature } from './api.ts';

interface SignatureViewProps {
  readonly signature: Signature;
  /** Whether to look for the reason: where a fault has broken it, the fault is the reason. */
  readonly explain: boolean;
  readonly id: number;
}

/** Whether a signature holds, with which key, and what was signed. */
export function SignatureView({ signature, explain, id }: SignatureViewProps) {
  const { holds, key, isExpectedKey, reason, signedText, differences } = signature;
  const isGood = holds && isExpectedKey !== false;
  return (
    <section class={`card signature ${isGood ? 'good' : 'bad'}`}>
      <div class="card-head">
        <h3>
          {isGood
            ? '✓ The signature holds'
            : holds
              ? '✗ Signed with the wrong key'
              : '✗ The signature does not hold'}
        </h3>
      </div>
      <div class="pad">
        {holds ? (
          <p>
            Made with the <b>{key}</b>
            {isExpectedKey === false && ', which is not the one for this'}.
          </p>
        ) : (
          <p>{reason?.message}</p>
        )}
        {differences.length > 0 && <Differences differences={differences} />}
        {!holds && explain && <Reasons id={id} />}
        {signedText !== undefined && (
          <details>
            <summary>The signed text</summary>
            <pre>{signedText}</pre>
          </details>
        )}
      </div>
    </section>
  );
}

function Differences({ differences }: Pick<Signature, 'differences'>) {
  return (
    <table>
      <caption>What differs from the genuine event</caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Genuine</th>
          <th scope="col">Here</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ member, genuine, found }) => (
          <tr key={member}>
            <th scope="row">{member}</th>
            <td>{genuine ?? '–'}</td>
            <td>{found ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Reasons({ id }: { id: number }) {
  const [explanation, setExplanation] = useState<Explanation | undefined>();
  useEffect(() => {
    get<Explanation>(pathOf`trace/${id}/explanation`).then(setExplanation, () => {});
  }, [id]);
  if (explanation === undefined) return null;
  return (
    <>
      <ul>
        {explanation.findings.map(({ code, message }) => (
          <li key={code + message}>{message}</li>
        ))}
      </ul>
      <p>
        <b>Next:</b> {explanation.nextStep}
      </p>
    </>
  );
}
