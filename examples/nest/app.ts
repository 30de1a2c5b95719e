/** An intermediary with Nest. Replace `Desk` by your help desk. */
import 'reflect-metadata'
import {
  Controller,
  Headers,
  HttpCode,
  Injectable,
  Module,
  Post,
  type RawBodyRequest,
  Req,
  UnauthorizedException,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { verify } from 'handover-sim/signature'

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }
const { BOT_URL = 'https://bot.example.test', BOT_KEY = 'sim-handover-key' } = process.env

@Injectable()
class Desk {
  async accept(botId: number, chatId: string): Promise<void> {
    await fetch(`${BOT_URL}/api/v2/handover/start`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ bot_id: botId, chat_id: chatId, sender }),
    })
  }
}

@Controller('hooks')
class WebhookController {
  readonly #desk: Desk

  constructor(desk: Desk) {
    this.#desk = desk
  }

  /** The signature covers the raw bytes, which Nest keeps with the option `rawBody`. */
  @Post('platform')
  @HttpCode(200)
  async receive(@Req() request: RawBodyRequest<object>, @Headers() headers: Record<string, string>): Promise<string> {
    const body = request.rawBody ?? ''
    if (!(await verify(body, headers, BOT_KEY))) throw new UnauthorizedException()
    const { event, bot, chat } = JSON.parse(body.toString())
    if (event === 'REQUESTING TAKEOVER') void this.#desk.accept(bot.id, chat.id)
    return 'ok'
  }
}

@Module({ controllers: [WebhookController], providers: [Desk] })
class AppModule {}

export const createApp = () => NestFactory.create(AppModule, { rawBody: true, logger: ['error'] })
