/** Frequent given names, folded: enough to see which of two words is one. */
export const GIVEN_NAMES = new Set(
  (
    'jan jiri josef petr pavel martin tomas jaroslav miroslav zdenek frantisek vaclav michal karel milan vladimir lukas david jakub ' +
    'ladislav stanislav ondrej roman antonin marek radek daniel ales miloslav oldrich vojtech rudolf libor bohumil ivan filip adam ' +
    'marie jana eva hana anna lenka katerina lucie vera alena petra veronika jaroslava tereza martina michaela jitka helena ludmila ' +
    'zdenka ivana monika eliska zuzana marketa jarmila barbora jirina kristyna klara dagmar pavla ivo hynek dusan john peter thomas'
  ).split(' '),
);
