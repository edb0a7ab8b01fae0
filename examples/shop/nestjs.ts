/** The shop on NestJS 12. Compile it as any NestJS application; here compile.ts does. */
import 'reflect-metadata';
import {
  type ArgumentsHost,
  type BeforeApplicationShutdown,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Header,
  Headers,
  HttpCode,
  Inject,
  Injectable,
  Ip,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Param,
  Post,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost, NestFactory } from '@nestjs/core';
import type { Response } from 'express';
import { openShop } from './shop.ts';
import { answerOf } from './shop-error.ts';

/** The one shop of this process, begun and ended with the application. */
@Injectable()
class Shop implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  @Inject(HttpAdapterHost) private readonly http!: HttpAdapterHost;
  readonly shop = openShop();

  onApplicationBootstrap(): void {
    this.shop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.shop.stop(this.http.httpAdapter.getHttpServer());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.shop.end();
    console.log('stopped');
  }
}

@Controller()
class Buyers {
  @Inject(Shop) private readonly provider!: Shop;

  @Post('codes')
  sendCode(@Body() body: object, @Ip() ip: string) {
    return this.provider.shop.sendCode(body, ip);
  }

  @Post('sessions')
  openSession(@Body() body: object) {
    return this.provider.shop.openSession(body);
  }

  @Post('purchases')
  async buy(@Headers('authorization') authorization: string | undefined, @Body() body: unknown) {
    const { shop } = this.provider;
    return shop.buy(await shop.phoneOf(authorization), body);
  }

  @Get('purchases/:id')
  async purchase(@Headers('authorization') authorization: string | undefined, @Param('id') id: string) {
    const { shop } = this.provider;
    return shop.purchase(await shop.phoneOf(authorization), id);
  }
}

@Controller()
class Operators {
  @Inject(Shop) private readonly provider!: Shop;

  @Post('purchases/:id/settle')
  @HttpCode(204)
  settle(
    @Headers('authorization') authorization: string | undefined,
    @Param('id') id: string,
    @Body() body: unknown,
  ) {
    return this.provider.shop.settle(authorization, id, body);
  }

  /** Liveness: the process answers. An outage of the database must not restart it. */
  @Get('health/live')
  live(): string {
    return 'ok';
  }

  @Get('health/ready')
  ready() {
    return this.provider.shop.health();
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4')
  metrics() {
    return this.provider.shop.metrics();
  }
}

@Catch()
class Errors implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const { status, body, headers } = answerOf(error);
    host.switchToHttp().getResponse<Response>().status(status).set(headers).json(body);
  }
}

@Module({ controllers: [Buyers, Operators], providers: [Shop, { provide: APP_FILTER, useClass: Errors }] })
class Application {}

const app = await NestFactory.create(Application, { logger: ['error', 'warn'] });
// Before the body parsers: the signature covers the bytes.
app.use('/partner/events', app.get(Shop).shop.webhooks.node);
app.enableShutdownHooks(['SIGTERM']);
await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
console.log(await app.getUrl());
