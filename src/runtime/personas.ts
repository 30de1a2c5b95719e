/** Makes believable end users with faker, seeded per chat. Loads each locale with its first chat. */
import type { Faker } from '@faker-js/faker'
import { hashWords } from './random.ts'

export interface DrawnPersona {
  readonly firstName: string
  readonly lastName: string
  readonly fullName: string
  readonly gender: string
  /** The data that a company's bot collects. */
  readonly context: Record<string, unknown>
}

const LOCALES = {
  en: () => import('@faker-js/faker/locale/en'),
  nb: () => import('@faker-js/faker/locale/nb_NO'),
  de: () => import('@faker-js/faker/locale/de'),
  ar: () => import('@faker-js/faker/locale/ar'),
} satisfies Record<string, () => Promise<{ faker: Faker }>>

const isLocale = (name: string): name is keyof typeof LOCALES => Object.hasOwn(LOCALES, name)

function localeOf(language: string): keyof typeof LOCALES {
  const primary = language.toLowerCase().split(/[-_]/)[0] ?? ''
  if (primary === 'no' || primary === 'nn') return 'nb'
  return isLocale(primary) ? primary : 'en'
}

/** The same seed, label and language give the same person. */
export async function drawPersona(seed: number, label: string, language: string): Promise<DrawnPersona> {
  const { faker } = await LOCALES[localeOf(language)]()
  faker.seed(hashWords(label, seed)[0])
  const gender = faker.helpers.arrayElement(['female', 'male'] as const)
  const firstName = faker.person.firstName(gender)
  const lastName = faker.person.lastName(gender)
  return { firstName, lastName, fullName: `${firstName} ${lastName}`, gender, context: drawContext(faker) }
}

function drawContext(faker: Faker): Record<string, unknown> {
  const page = faker.helpers.arrayElement(['orders', 'returns', 'delivery', 'account', 'contact', 'invoices'])
  return {
    page_url: `https://www.example.test/${page}`,
    customer_number: faker.string.numeric({ length: 6, allowLeadingZeros: false }),
    returning_customer: faker.datatype.boolean(),
    device: faker.helpers.arrayElement(['mobile', 'desktop', 'tablet']),
  }
}
