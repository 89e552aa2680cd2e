/** Given names of Czechia and its neighbours, folded: they show which word of a name is the given name. */
export const GIVEN_NAMES: ReadonlySet<string> = new Set(
  (
    'adam amos adolf alan albert albin ales alexandr alexander alfons alfred alois alojz ambroz andrej andreas anton antonin arnold arnost arpad artur ' +
    'august augustin bartolomej bedrich benedikt benjamin bernard blazej blahoslav bohdan bohumil bohumir bohuslav bohus boleslav boris borivoj ' +
    'bozetech branislav bretislav brunon bruno cenek cestmir ctibor ctirad cyril dalibor dalimil daniel darius david denis detrich dezider dimitrij ' +
    'dobromil dobroslav dominik drahomir drahoslav dusan eduard edvard egon elias emanuel emerich emil erich erik ernest ervin eugen evzen ' +
    'fabian felix ferdinand fedor filip florian frantisek franz fridrich gabriel george gejza gregor gunter gustav hans havel heinrich helmut herbert ' +
    'herman hubert hugo hynek hyacint ignac igor imrich ivan ivo izidor izak jachym jakub jan jaromir jaroslav jarmil jeronym jeremias jindrich ' +
    'jiri jilji joachim john johann jonas jonatan josef jozef julius juraj justin kajetan kamil karel karol kazimir klaus klement konrad konstantin ' +
    'kornel krystof krystian kristian kryspin kvetoslav kvido ladislav leo leon leopold leos libor lubor lubomir lubos ludek ludomir ludovit ludvik ' +
    'lukas luis lumir luther magnus marcel marcin marek marian mario marius martin matej mathias matous matyas maxim max maxmilian medard mecislav ' +
    'metodej michael michal mikolas mikulas milan milivoj miloslav milos milutin miroslav mojmir moric narcis nikola nikolas norbert oldrich ' +
    'oleg oliver olivier ondrej oskar ota otakar otmar oto otokar otto pankrac patrik pavel paul pavol peter petr philip pravoslav premek premysl ' +
    'prokop radan radek radim radko radomil radomir radovan radoslav rafael rainer rastislav ratibor ray rene richard robert robin roland roman ' +
    'rostislav ruben rudolf samuel sebastian sergej servac severin silvestr simon slavomir slavoj slavomil sobeslav stanislav stefan stepan svatopluk ' +
    'svatoslav tadeas teodor theodor thomas tibor timotej tobias tomas vaclav valdemar valentin valerian vavrinec vendelin vilem viktor vilibald ' +
    'viliam vincenc vit vitezslav vladan vladimir vladislav vladivoj vlastimil vlastislav vojtech vojmir volker walter wenzel werner wilhelm wolfgang ' +
    'xaver zbynek zbysek zbyhnev zdenek zdislav zdenko zikmund ' +
    'adela adriana agata alena alexandra alice alzbeta amalie anastazie andrea andela aneta anezka anna antonie apolena barbora beata bela berta ' +
    'blanka blazena bohdana bohumila bohuslava bozena brigita bronislava cecilie dagmar dana daniela darina dasa denisa diana dobromila dobroslava ' +
    'dominika dorota drahomira drahoslava edita ela elena eleonora eliska elsa elvira ema emilie ester eugenie eva evelina evzenie filomena frantiska ' +
    'gabriela galina gerda gertruda gisela gita gizela hana hedvika helena helga henrieta hermina hilda ida ilona ingrid irena iris irma iva ivana ' +
    'iveta ivona ivanka izabela jana jarmila jaromira jaroslava jindra jindriska jirina jitka johana jolana josefa jozefina judita julie julia juliana ' +
    'justina kamila karina karla karolina katarina katerina klara kristina kristyna kveta kvetoslava kvetuse lada ladislava laura lea lenka leona ' +
    'libuse lidmila liliana linda livia lubica lubomira lucie ludmila luisa lydie magda magdalena marcela margareta margita maria mariana ' +
    'marie marketa marta martina matylda melanie michaela michala milada milena miloslava miluse mirka miroslava monika nada nadezda natalie nela ' +
    'nikol nina nora olga olina otilie otylie pavla pavlina patricie petra petronela radana radka radmila radomira radoslava regina renata ' +
    'romana rozalie rudolfa ruzena sabina sandra sara sarka silvie simona slavena slavka sofie sona stanislava stela stepanka svatava svetlana sylva ' +
    'sylvie tamara tana tatana tekla tereza terezie uljana ursula vaclava valerie vanda vendula vendulka vera veronika vesna viera vilma viktorie ' +
    'viola vladimira vladena vlasta vlastimila vojteska xenie yvona zaneta zdena zdenka zdislava zelmira zina zita zlata zlatuse zofie zora zuzana'
  ).split(' '),
);
