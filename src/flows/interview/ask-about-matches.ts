import { msgid, ngettext, t } from '../../base/language.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { allFinds } from '../../outbox/stored-finds.ts';
import { foldName } from '../../text/names.ts';
import type { Offer, Prompt } from '../../ui/prompt.ts';
import { printable } from '../../ui/terminal.ts';
import type { Answer, Questions } from '../queue/match-folder.ts';
import { reasonsText } from './match-texts.ts';

export function questionsAbout(outbox: Outbox, prompt: Prompt): Questions {
  const finds = [...allFinds(outbox)].map(({ localId, elements }) => {
    const { druh_nalezu: object, datum_nalezu: foundOn } = elements as FindElements;
    const about = [object?.text, foundOn].filter((part) => part !== undefined && part !== '').join(', ');
    return { localId, name: printable(about === '' ? localId : `${localId}  ${about}`) };
  });
  const nameOf = new Map(finds.map(({ localId, name }) => [localId, name]));
  const offer = (localId: string): Offer<Answer> => ({
    value: { kind: 'find', localId },
    name: nameOf.get(localId) ?? localId,
    short: printable(localId),
  });
  const [skip, stop] = endings();
  return {
    takeLikely: (count) =>
      prompt.confirm(
        ngettext(
          msgid`Queue the ${count} likely match as well? Otherwise it is asked about.`,
          `Queue the ${count} likely matches as well? Otherwise each is asked about.`,
          count,
        ),
        true,
      ),
    whichFind: (match, number, all) => {
      const file = printable(match.file);
      const why = printable(reasonsText(match));
      return prompt.search<Answer>({
        message: t`(${number}/${all}) ${file}, ${why}. Which find?`,
        offers(typed) {
          const wanted = foldName(typed);
          if (wanted !== '')
            return [...finds.filter(({ name }) => foldName(name).includes(wanted)).map(({ localId }) => offer(localId)), skip];
          const others = finds.map(({ localId }) => localId).filter((localId) => !match.candidates.includes(localId));
          return [skip, ...match.candidates.map(offer), stop, ...others.map(offer)];
        },
      });
    },
  };
}

function endings(): readonly [Offer<Answer>, Offer<Answer>] {
  return [
    { value: { kind: 'skip' }, name: t`skip this photograph`, short: t`skipped` },
    { value: { kind: 'stop' }, name: t`skip all that are left`, short: t`all left are skipped` },
  ];
}
