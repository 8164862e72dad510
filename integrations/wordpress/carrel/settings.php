<?php
/* Where the service is, and the page on which an administrator says so. Constants in wp-config.php come first. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

function carrel_url(): string {
    return untrailingslashit( defined( 'CARREL_URL' ) ? CARREL_URL : (string) get_option( 'carrel_url', '' ) );
}

function carrel_secret(): string {
    return defined( 'CARREL_PLUGIN_SECRET' ) ? CARREL_PLUGIN_SECRET : (string) get_option( 'carrel_secret', '' );
}

/* Roles whose users are members; everybody else has the free plan. */
function carrel_paid_roles(): array {
    return array_filter( array_map( 'trim', explode( ',', (string) get_option( 'carrel_paid_roles', '' ) ) ) );
}

add_action( 'admin_init', function () {
    $is_url = fn( $value ) => esc_url_raw( untrailingslashit( trim( (string) $value ) ) );
    /* The field of the secret is always shown empty: an empty one keeps what is stored. */
    $is_secret = fn( $value ) => '' === trim( (string) $value ) ? get_option( 'carrel_secret', '' ) : trim( (string) $value );
    register_setting( 'carrel', 'carrel_url', array( 'type' => 'string', 'sanitize_callback' => $is_url ) );
    register_setting( 'carrel', 'carrel_secret', array( 'type' => 'string', 'sanitize_callback' => $is_secret ) );
    register_setting( 'carrel', 'carrel_paid_roles', array( 'type' => 'string', 'sanitize_callback' => 'sanitize_text_field' ) );
} );

add_action( 'admin_menu', function () {
    add_options_page( 'Carrel', 'Carrel', 'manage_options', 'carrel', 'carrel_settings_page' );
} );

/* What an administrator is told about the service: whether it answers, and whether it takes the secret. */
function carrel_state(): string {
    if ( '' === carrel_url() || '' === carrel_secret() ) {
        return 'Enter the address and the secret.';
    }
    list( $status ) = carrel_call( 'GET', '/health' );
    if ( 200 !== $status ) {
        return 'The service does not answer at this address.';
    }
    /* Nobody has this uuid: with the right secret the service says that it does not know it. */
    list( , $answer ) = carrel_call( 'POST', '/auth/refresh', array( 'uuid' => '00000000-0000-4000-8000-000000000000' ) );
    return 'plugin-secret-invalid' === ( $answer['code'] ?? '' )
        ? 'The service answers, but it does not take the secret.' : 'The service answers and takes the secret.';
}

function carrel_settings_page(): void {
    $by_file = defined( 'CARREL_URL' ) && defined( 'CARREL_PLUGIN_SECRET' );
    ?>
<div class="wrap"><h1>Carrel</h1>
<p><strong><?php echo esc_html( carrel_state() ); ?></strong></p>
<form method="post" action="options.php">
    <?php settings_fields( 'carrel' ); ?>
    <table class="form-table">
    <?php if ( $by_file ) : ?>
    <tr><td colspan="2">The address and the secret are set in wp-config.php.</td></tr>
    <?php else : ?>
    <tr><th><label for="carrel_url">Address of the service</label></th>
        <td><input class="regular-text" id="carrel_url" name="carrel_url" type="url" value="<?php echo esc_attr( carrel_url() ); ?>"></td></tr>
    <tr><th><label for="carrel_secret">Plugin secret</label></th>
        <td><input class="regular-text" id="carrel_secret" name="carrel_secret" type="password" autocomplete="off" value="">
        <p class="description">Whoever has it can sign in as anybody. In wp-config.php it is in no backup of the database:
        <code>define( 'CARREL_PLUGIN_SECRET', '…' );</code></p></td></tr>
    <?php endif; ?>
    <tr><th><label for="carrel_paid_roles">Roles of members</label></th>
        <td><input class="regular-text" id="carrel_paid_roles" name="carrel_paid_roles"
            value="<?php echo esc_attr( implode( ', ', carrel_paid_roles() ) ); ?>">
        <p class="description">Users with one of these roles are members, such as <code>administrator, subscriber</code>.</p></td></tr>
    </table>
    <?php submit_button(); ?>
</form></div>
    <?php
}
