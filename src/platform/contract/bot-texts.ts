/** Lists the shipped conversations, and what the bot says by itself, by language: its answers and the notices about the handover. */

interface BotTexts {
  readonly greeting: string
  readonly welcome: string
  readonly unsure: string
  /** The label of the button that requests an agent. */
  readonly button: string
  readonly open: string
  readonly closed: string
  /** `{name}` is the sender. */
  readonly entering: string
  readonly left: string
  /** An agent without a name. */
  readonly agent: string
}

/** The value of the knobs `messages.*` that stands for the texts of this file. */
export const BY_LANGUAGE = 'by-language'

const TEXTS: Readonly<Record<string, BotTexts>> & { readonly en: BotTexts } = {
  en: {
    greeting: 'Hi there! What can I help you with?',
    welcome: 'You are welcome! Have a nice day.',
    unsure: 'I am not sure I got that. Shall I find a colleague for you?',
    button: 'Talk to a person',
    open: 'One moment, I am passing you on to a human colleague.',
    closed: 'Our team is not available right now. Please try again later.',
    entering: '{name} has joined the chat.',
    left: '{name} has left the chat.',
    agent: 'An agent',
  },
  nb: {
    greeting: 'Hei! Hva kan jeg hjelpe deg med?',
    welcome: 'Bare hyggelig! Ha en fin dag.',
    unsure: 'Det var jeg ikke helt sikker på. Skal jeg finne en kollega til deg?',
    button: 'Snakk med et menneske',
    open: 'Et øyeblikk, jeg setter deg over til en kollega.',
    closed: 'Teamet vårt er ikke tilgjengelig akkurat nå. Prøv igjen senere.',
    entering: '{name} har blitt med i chatten.',
    left: '{name} har forlatt chatten.',
    agent: 'En medarbeider',
  },
  sv: {
    greeting: 'Hej! Vad kan jag hjälpa dig med?',
    welcome: 'Varsågod! Ha en fin dag.',
    unsure: 'Det förstod jag inte riktigt. Ska jag hitta en kollega åt dig?',
    button: 'Prata med en människa',
    open: 'Ett ögonblick, jag kopplar dig till en kollega.',
    closed: 'Vårt team är inte tillgängligt just nu. Försök igen senare.',
    entering: '{name} har anslutit till chatten.',
    left: '{name} har lämnat chatten.',
    agent: 'En medarbetare',
  },
  da: {
    greeting: 'Hej! Hvad kan jeg hjælpe dig med?',
    welcome: 'Det var så lidt! Hav en god dag.',
    unsure: 'Det forstod jeg ikke helt. Skal jeg finde en kollega til dig?',
    button: 'Tal med et menneske',
    open: 'Et øjeblik, jeg stiller dig om til en kollega.',
    closed: 'Vores team er ikke tilgængeligt lige nu. Prøv igen senere.',
    entering: '{name} er kommet ind i chatten.',
    left: '{name} har forladt chatten.',
    agent: 'En medarbejder',
  },
  de: {
    greeting: 'Hallo! Wobei kann ich Ihnen helfen?',
    welcome: 'Gern geschehen! Ich wünsche Ihnen einen schönen Tag.',
    unsure: 'Das habe ich leider nicht ganz verstanden. Soll ich Sie mit einer Person verbinden?',
    button: 'Mit einer Person sprechen',
    open: 'Einen Moment, ich verbinde Sie mit einer Person aus unserem Team.',
    closed: 'Unser Team ist gerade nicht erreichbar. Bitte versuchen Sie es später noch einmal.',
    entering: '{name} ist dem Chat beigetreten.',
    left: '{name} hat den Chat verlassen.',
    agent: 'Eine Person aus dem Team',
  },
  nl: {
    greeting: 'Hallo! Waarmee kan ik u helpen?',
    welcome: 'Graag gedaan! Nog een fijne dag.',
    unsure: 'Dat heb ik niet helemaal begrepen. Zal ik een collega voor u zoeken?',
    button: 'Met een medewerker praten',
    open: 'Een ogenblik, ik verbind u door met een collega.',
    closed: 'Ons team is op dit moment niet bereikbaar. Probeer het later opnieuw.',
    entering: '{name} neemt nu deel aan de chat.',
    left: '{name} heeft de chat verlaten.',
    agent: 'Een medewerker',
  },
  fi: {
    greeting: 'Hei! Miten voin auttaa?',
    welcome: 'Ole hyvä! Mukavaa päivää.',
    unsure: 'En ole varma, ymmärsinkö oikein. Etsinkö sinulle kollegan?',
    button: 'Puhu ihmiselle',
    open: 'Hetkinen, yhdistän sinut kollegalleni.',
    closed: 'Tiimimme ei ole juuri nyt tavoitettavissa. Yritä myöhemmin uudelleen.',
    entering: '{name} liittyi keskusteluun.',
    left: '{name} poistui keskustelusta.',
    agent: 'Asiakaspalvelija',
  },
  fr: {
    greeting: 'Bonjour ! Comment puis-je vous aider ?',
    welcome: 'Avec plaisir ! Bonne journée.',
    unsure: 'Je ne suis pas sûr d’avoir compris. Voulez-vous que je trouve un collègue pour vous ?',
    button: 'Parler à une personne',
    open: 'Un instant, je vous mets en relation avec un collègue.',
    closed: 'Notre équipe n’est pas disponible pour le moment. Veuillez réessayer plus tard.',
    entering: '{name} a rejoint la conversation.',
    left: '{name} a quitté la conversation.',
    agent: 'Un conseiller',
  },
  es: {
    greeting: '¡Hola! ¿En qué puedo ayudarle?',
    welcome: '¡De nada! Que tenga un buen día.',
    unsure: 'No estoy seguro de haberlo entendido. ¿Quiere que busque a un compañero?',
    button: 'Hablar con una persona',
    open: 'Un momento, le paso con un compañero.',
    closed: 'Nuestro equipo no está disponible en este momento. Inténtelo de nuevo más tarde.',
    entering: '{name} se ha unido al chat.',
    left: '{name} ha salido del chat.',
    agent: 'Un agente',
  },
  it: {
    greeting: 'Ciao! Come posso aiutarti?',
    welcome: 'Prego! Buona giornata.',
    unsure: 'Non sono sicuro di aver capito. Vuoi che cerchi un collega?',
    button: 'Parla con una persona',
    open: 'Un momento, ti metto in contatto con un collega.',
    closed: 'Il nostro team non è disponibile in questo momento. Riprova più tardi.',
    entering: '{name} è entrato nella chat.',
    left: '{name} ha lasciato la chat.',
    agent: 'Un operatore',
  },
  pt: {
    greeting: 'Olá! Como posso ajudar?',
    welcome: 'De nada! Tenha um bom dia.',
    unsure: 'Não sei se entendi bem. Quer que eu chame um colega?',
    button: 'Falar com uma pessoa',
    open: 'Um momento, vou passar a conversa a um colega.',
    closed: 'A nossa equipa não está disponível agora. Tente novamente mais tarde.',
    entering: '{name} entrou na conversa.',
    left: '{name} saiu da conversa.',
    agent: 'Um assistente',
  },
  ar: {
    greeting: 'مرحبًا! كيف يمكنني مساعدتك؟',
    welcome: 'على الرحب والسعة! أتمنى لك يومًا سعيدًا.',
    unsure: 'عذرًا، لم أفهم طلبك تمامًا. هل أحوّلك إلى أحد الزملاء؟',
    button: 'التحدث إلى موظف',
    open: 'لحظة من فضلك، سأحوّلك إلى أحد الزملاء.',
    closed: 'فريقنا غير متاح حاليًا. يُرجى المحاولة لاحقًا.',
    entering: 'انضم {name} إلى المحادثة.',
    left: 'غادر {name} المحادثة.',
    agent: 'أحد الموظفين',
  },
}

export const BOT_LANGUAGES: readonly string[] = Object.keys(TEXTS)

/** The texts of a language, or the English ones. Norwegian texts are those of `nb`. */
export function textsFor<Texts>(
  byLanguage: Readonly<Record<string, Texts>> & { readonly en: Texts },
  language: string,
): Texts {
  const primary = language.toLowerCase().split('-')[0] ?? ''
  const name = primary === 'no' || primary === 'nn' ? 'nb' : primary
  return (Object.hasOwn(byLanguage, name) ? byLanguage[name] : undefined) ?? byLanguage.en
}

export const botTexts = (language: string): BotTexts => textsFor(TEXTS, language)

type NoticeName = 'open' | 'closed' | 'entering' | 'left'

/** A notice with `{name}`. `setting` is the value of its knob, which overrides the text of the language. */
export const noticeText = (setting: string, name: NoticeName, language: string): string =>
  setting === BY_LANGUAGE ? botTexts(language)[name] : setting

const NOTICES: readonly NoticeName[] = ['open', 'closed', 'entering', 'left']

/** Settings by name in which the knobs `messages.*` have the texts of a language. */
export const withNoticeTexts = (
  settings: Readonly<Record<string, unknown>>,
  language: string,
): Readonly<Record<string, unknown>> => {
  const texts = NOTICES.flatMap(name => {
    const setting = settings[`messages.${name}`]
    return typeof setting === 'string' ? [[`messages.${name}`, noticeText(setting, name, language)]] : []
  })
  return { ...settings, ...Object.fromEntries(texts) }
}

/** Names the shipped conversations that a chat can begin with. */
const LANGUAGES = ['en', 'nb', 'de', 'ar'] as const
const AREAS = ['shop', 'bank', 'transport', 'municipality'] as const

/** The language of a shipped conversation and what it is about: `nb-shop`. */
export type TranscriptName = `${(typeof LANGUAGES)[number]}-${(typeof AREAS)[number]}`

export const TRANSCRIPT_NAMES = LANGUAGES.flatMap(language => AREAS.map(area => `${language}-${area}` as const))
